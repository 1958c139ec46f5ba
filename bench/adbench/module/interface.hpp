// What a module of ADBench's runner in C++ passes and returns, written down anew: the order of members and of virtual
// functions is what such modules agree on (ADBench, revision 38cb793; the same compiler's C++ library is assumed).
#ifndef ADBENCH_INTERFACE_HPP
#define ADBENCH_INTERFACE_HPP

#include <string>
#include <vector>

namespace interface {

template <typename Input, typename Output> struct Test {
    virtual void prepare(Input &&input) = 0;
    virtual void calculate_objective(int times) = 0;
    virtual void calculate_jacobian(int times) = 0;
    virtual Output output() = 0;
    virtual ~Test() = default;
};

struct Prior {
    double gamma;
    int m;
};

struct GmmInput {
    int d, k, n;
    std::vector<double> alphas, means, icf, x;
    Prior wishart;
};

// GMM and LSTM.
struct GradientOutput {
    double objective;
    std::vector<double> gradient;
};

struct BaInput {
    int n, m, p;
    std::vector<double> cams, points, weights, feats;
    std::vector<int> obs;
};

struct Sparse {
    int n, m, p, nrows, ncols;
    std::vector<int> rows, cols;
    std::vector<double> vals;
};

struct BaOutput {
    std::vector<double> reprojection, weights;
    Sparse jacobian;
};

struct LstmInput {
    int l, c, b;
    std::vector<double> main_params, extra_params, state, sequence;
};

// Column after column.
template <typename T> struct Matrix {
    bool owned;
    int rows, columns;
    T *data;
};

struct Triangle {
    int corners[3];
};

struct HandModel {
    std::vector<std::string> bone_names;
    std::vector<int> parents;
    std::vector<Matrix<double>> base_relatives, inverse_base_absolutes; // 4 x 4
    Matrix<double> base_positions, weights;                             // 4 x vertices, bones x vertices
    std::vector<Triangle> triangles;
    bool is_mirrored;
};

struct HandInput {
    std::vector<double> theta;
    HandModel model;
    std::vector<int> correspondences;
    Matrix<double> points; // 3 x points
    std::vector<double> us;
};

struct HandOutput {
    std::vector<double> objective;
    int columns, rows;
    std::vector<double> jacobian; // column after column
};

typedef Test<GmmInput, GradientOutput> GmmTest;
typedef Test<BaInput, BaOutput> BaTest;
typedef Test<LstmInput, GradientOutput> LstmTest;
typedef Test<HandInput, HandOutput> HandTest;

} // namespace interface

#endif
